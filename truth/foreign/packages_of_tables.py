"""Tables, recommenders, reinforcement learning, graphs of molecules, densities."""
import torch

from catalog import Model


def ft_transformer():
    from rtdl_revisiting_models import FTTransformer

    kwargs = FTTransformer.get_default_kwargs(n_blocks=1)
    model = FTTransformer(n_cont_features=5, cat_cardinalities=[4, 7], d_out=1, **kwargs)
    return model, (torch.randn(8, 5), torch.randint(0, 4, (8, 2))), {}


def tabm():
    from rtdl_num_embeddings import PeriodicEmbeddings
    from tabm import TabM

    embeddings = PeriodicEmbeddings(5, d_embedding=8, n_frequencies=6, lite=False)
    model = TabM.make(n_num_features=5, cat_cardinalities=[4, 7], d_out=1, k=4, d_block=32,
                      n_blocks=2, num_embeddings=embeddings)
    return model, (torch.randn(8, 5), torch.randint(0, 4, (8, 2))), {}


def tabnet():
    from pytorch_tabnet.tab_network import TabNet

    model = TabNet(input_dim=6, output_dim=2, n_steps=2, cat_idxs=[0], cat_dims=[5], cat_emb_dim=[2],
                   virtual_batch_size=16, group_attention_matrix=torch.eye(6))
    return model, (torch.randint(0, 5, (32, 6)).float(),), {}


def deep_interest():
    from torch_rechub.basic.features import SequenceFeature, SparseFeature
    from torch_rechub.models.ranking import DIN

    features = [SparseFeature("user", 20, embed_dim=8)]
    targets = [SparseFeature("item", 30, embed_dim=8)]
    history = [SequenceFeature("items", 30, embed_dim=8, pooling="concat", shared_with="item")]
    model = DIN(features, history, targets, {"dims": [16, 8]}, {"dims": [8]})
    row = {"user": torch.randint(0, 20, (8,)), "item": torch.randint(0, 30, (8,)),
           "items": torch.randint(0, 30, (8, 5))}
    return model, (row,), {}


def mixture_of_experts():
    from torch_rechub.basic.features import DenseFeature, SparseFeature
    from torch_rechub.models.multi_task import MMOE

    features = [SparseFeature("user", 20, embed_dim=8), DenseFeature("age")]
    tower = {"dims": [8]}
    model = MMOE(features, ["classification", "classification"], 3, {"dims": [16]}, [tower, tower])
    return model, ({"user": torch.randint(0, 20, (8,)), "age": torch.rand(8)},), {}


def xdeepfm():
    from torchfm.model.xdfm import ExtremeDeepFactorizationMachineModel

    model = ExtremeDeepFactorizationMachineModel([10, 20, 30], embed_dim=8, mlp_dims=(16, 8),
                                                 dropout=0.2, cross_layer_sizes=(8, 8))
    return model, (torch.randint(0, 10, (16, 3)),), {}


def proximal_policy():
    import gymnasium
    from stable_baselines3.common.policies import ActorCriticCnnPolicy

    class Loss(torch.nn.Module):
        """The loss of PPO.train in stable_baselines3/ppo/ppo.py."""

        def __init__(self, policy):
            super().__init__()
            self.policy = policy

        def forward(self, observations, actions, old_log_prob, advantages, returns):
            values, log_prob, entropy = self.policy.evaluate_actions(observations, actions)
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = torch.exp(log_prob - old_log_prob)
            clipped = torch.clamp(ratio, 0.8, 1.2)
            policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
            value_loss = torch.nn.functional.mse_loss(returns, values.flatten())
            return policy_loss - 0.01 * entropy.mean() + 0.5 * value_loss

    space = gymnasium.spaces.Box(0, 255, (4, 36, 36), dtype="uint8")
    policy = ActorCriticCnnPolicy(space, gymnasium.spaces.Discrete(6), lambda _: 1e-3)
    frames = torch.randint(0, 255, (4, 4, 36, 36), dtype=torch.uint8)
    rest = (torch.randn(4), torch.randn(4), torch.randn(4))
    return Loss(policy), (frames, torch.randint(0, 6, (4,)), *rest), {}


def twin_delayed():
    import gymnasium
    from stable_baselines3.td3.policies import TD3Policy

    class Loss(torch.nn.Module):
        """The critic's loss of TD3.train in stable_baselines3/td3/td3.py."""

        def __init__(self, policy):
            super().__init__()
            self.policy = policy

        def forward(self, observations, actions, rewards, next_observations):
            policy = self.policy
            with torch.no_grad():
                next_actions = policy.actor_target(next_observations).clamp(-1, 1)
                values = torch.cat(policy.critic_target(next_observations, next_actions), dim=1)
                target = rewards + 0.99 * torch.min(values, dim=1, keepdim=True)[0]
            current = policy.critic(observations, actions)
            return sum(torch.nn.functional.mse_loss(value, target) for value in current)

    space = gymnasium.spaces.Box(-1, 1, (11,))
    policy = TD3Policy(space, gymnasium.spaces.Box(-1, 1, (3,)), lambda _: 1e-3, net_arch=[32, 32])
    x = torch.randn(16, 11)
    return Loss(policy), (x, torch.randn(16, 3), torch.randn(16, 1), x + 1), {}


def equivariant_graph():
    from egnn_pytorch import EGNN_Network

    model = EGNN_Network(num_tokens=10, num_positions=16, dim=16, depth=2, num_nearest_neighbors=4,
                         norm_coors=True, coor_weights_clamp_value=2.0)
    return model, (torch.randint(0, 10, (2, 16)), torch.randn(2, 16, 3)), {}


def graph_transformer():
    from graph_transformer_pytorch import GraphTransformer

    model = GraphTransformer(dim=32, depth=2, edge_dim=16, heads=2, dim_head=16,
                             with_feedforwards=True, rel_pos_emb=True)
    return model, (torch.randn(2, 16, 32), torch.randn(2, 16, 16, 16)), {}


def tensor_product():
    import e3nn
    from e3nn import nn, o3

    e3nn.set_optimization_defaults(jit_script_fx=False)

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            inside, out = o3.Irreps("8x0e + 4x1o"), o3.Irreps("8x0e + 4x1o")
            self.product = o3.FullyConnectedTensorProduct(inside, "1x0e + 1x1o", out)
            self.linear = o3.Linear(out, out)
            self.norm = nn.BatchNorm(out)
            self.directions = o3.Irreps("1x0e + 1x1o")

        def forward(self, features, vectors):
            around = o3.spherical_harmonics(self.directions, vectors, normalize=True)
            return self.norm(self.linear(self.product(features, around)))

    return Layer(), (torch.randn(32, 20), torch.randn(32, 3)), {}


class LogProbability(torch.nn.Module):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow


def spline_flow():
    import zuko

    class Density(LogProbability):
        def forward(self, x, context):
            return -self.flow(context).log_prob(x).mean()

    flow = zuko.flows.NSF(features=3, context=2, transforms=2, hidden_features=(32, 32))
    return Density(flow), (torch.randn(16, 3), torch.randn(16, 2)), {}


def real_nvp():
    from nflows.flows import SimpleRealNVP

    class Density(LogProbability):
        def forward(self, x):
            return -self.flow.log_prob(x).mean()

    flow = SimpleRealNVP(features=4, hidden_features=32, num_layers=2, num_blocks_per_layer=1,
                         batch_norm_between_layers=True)
    return Density(flow), (torch.randn(16, 4),), {}


MODELS = {
    "ft_transformer": Model("rtdl_revisiting_models", "tabular", ft_transformer),
    "tabm": Model("tabm", "tabular", tabm),
    "tabnet": Model("pytorch-tabnet", "tabular", tabnet),
    "din": Model("torch-rechub", "recommender", deep_interest),
    "mmoe": Model("torch-rechub", "recommender", mixture_of_experts),
    "xdeepfm": Model("torchfm", "recommender", xdeepfm),
    "ppo": Model("stable-baselines3", "reinforcement learning", proximal_policy),
    "td3": Model("stable-baselines3", "reinforcement learning", twin_delayed),
    "egnn": Model("egnn-pytorch", "graph", equivariant_graph),
    "graph_transformer": Model("graph-transformer-pytorch", "graph", graph_transformer),
    "e3nn": Model("e3nn", "scientific", tensor_product),
    "zuko_nsf": Model("zuko", "scientific", spline_flow),
    "real_nvp": Model("nflows", "scientific", real_nvp),
}
