"""The programs that torch.export makes of the models, with and without checkpointing."""
import pathlib
import sys

import step_models

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "truth"), str(ROOT / "models")]

import fake_models
import pt2_file


def export(task, inputs):
    return pt2_file.export(task, inputs, "train")


def exported(program, paths):
    """The program as a module; the nodes of each call of a block from first to last become one
    module that is recomputed."""
    runnable = fake_models.runnable(program)
    for number, nodes in enumerate(regions(runnable.program.graph, paths)):
        outlined = outline(runnable.program, nodes, f"region_{number}")
        step_models.run_again(outlined)
    return runnable


def call_of(node, paths):
    """The call of a block that a node belongs to; a second call has a key of its own."""
    for key, (path, _) in node.meta.get("nn_module_stack", {}).items():
        if path.split("@")[0] in paths:
            return key
    return None


def regions(graph, paths):
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    spans = {}
    for place, node in enumerate(nodes):
        call = call_of(node, paths)
        if call is not None:
            spans.setdefault(call, [place, place])[1] = place
    return [nodes[first:last + 1] for first, last in spans.values()]


def own_attributes(graph, nodes):
    """Parameters and buffers are the region's own, as a module's are, not operands of it:
    checkpoint refuses operands that are changed in place."""
    attributes = {used for node in nodes for used in node.all_input_nodes if used.op == "get_attr"}
    copies = []
    for attribute in sorted(attributes):
        with graph.inserting_before(nodes[0]):
            copies.append(graph.node_copy(attribute))
        for node in nodes:
            node.replace_input_with(attribute, copies[-1])
    return copies


def outline(graph_module, nodes, name):
    from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule, insert_subgm

    nodes = own_attributes(graph_module.graph, nodes) + nodes
    sub_module, inputs, outputs = fuse_as_graphmodule(graph_module, nodes, name)
    insert_subgm(graph_module, sub_module, inputs, outputs)
    for node in reversed(nodes):
        graph_module.graph.erase_node(node)
    graph_module.recompile()
    return graph_module.get_submodule(name)
