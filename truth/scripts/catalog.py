"""Training scripts of other projects: where each is, and how it is run. None of their code is kept here."""
import dataclasses
import pathlib
import shutil
import subprocess


@dataclasses.dataclass(frozen=True)
class Source:
    """A commit of a repository, and the folders of it that are needed (all of them: none named)."""

    repository: str
    commit: str
    folders: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Script:
    """`{data}` in the arguments is the folder that data.py fills. `links`: path in the checkout -> what it is in that
    folder. `folder`: where the script is started. `path`: folders that it imports from. `is_compiled`: what the script gives to
    torch.compile is compiled on both sides; else it runs eagerly."""

    source: str
    script: str
    arguments: str = ""
    folder: str = "."
    links: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    steps: int = 4
    environment: tuple[tuple[str, str], ...] = ()
    ranks: int = 0
    is_compiled: bool = False


SOURCES = {
    "nanoGPT": Source("karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291"),
    "minGPT": Source("karpathy/minGPT", "37baab71b9abea1b76ab957409a1cc2fbfba8a26"),
    "examples": Source("pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8",
                       ("mnist", "vae", "dcgan", "imagenet", "mnist_rnn", "siamese_network", "word_language_model/main.py",
                        "word_language_model/data.py", "word_language_model/model.py")),
    # The commit is torchvision's own; the fork only has fewer files.
    "vision": Source("jinensetpal/contrastive-imagenet", "3b5e6fc42403cc20f8cfbafb52a75b30bd00c226",
                     ("references/classification",)),
    "timm": Source("huggingface/pytorch-image-models", "aa4b5850c1543fa488abf260f18390eda46cf85d", ("train.py",)),
    # Likewise a commit of transformers' own in a fork.
    "transformers": Source("macorisd/transformers-qwen3", "3034a13b258709cbf55f08aba35d4ec9a13dd420",
                           ("examples/pytorch/text-classification", "examples/pytorch/language-modeling")),
    "diffusers": Source("huggingface/diffusers", "58eb52c0803ea9af3abec60841c2a093bdf1f951",
                        ("examples/unconditional_image_generation",)),
    "x-transformers": Source("lucidrains/x-transformers", "9252ed7838021ee61e6c5be0930b3a9a88efdf06",
                             ("x_transformers", "train_copy.py", "train_enwik8.py", "train_parity.py")),
    "torchtitan": Source("pytorch/torchtitan", "f7084fc78567f865d0c411f2c7b9bbbef6b155ac",  # v0.1.0
                         ("torchtitan", "tests/assets/test_tiktoken.model", "scripts")),
    "nanochat": Source("karpathy/nanochat", "92d63d4e8bb4df75c3b71618f31ddde2378b2bcd"),
    "ao": Source("pytorch/ao", "36027d82d1ad9949597ea16002ff4940374b1b94", ("docs/source/examples",)),
}

_IMAGENET = "--dummy --epochs 1 --workers 2 --batch-size 32 --gpu 0"
_GLUE = ("--model_name_or_path {data}/bert --train_file {data}/pairs/train.csv --validation_file {data}/pairs/validation.csv "
         "--do_train --max_seq_length 128 --per_device_train_batch_size 16 --output_dir {out} --report_to none --num_train_epochs 1")
_CLM = ("--config_name {data}/gpt2 --tokenizer_name {data}/gpt2 --train_file {data}/text/train.txt --do_train "
        "--block_size 256 --per_device_train_batch_size 4 --output_dir {out} --report_to none --num_train_epochs 1")
_METRIC = (("examples/pytorch/text-classification/accuracy", "accuracy"),)
_TIMM = "--data-dir {data}/images --num-classes 8 --batch-size 16 --workers 2 --output {out} --epochs 1"
_ONE_RANK = (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"), ("LOCAL_WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"),
             ("MASTER_PORT", "29517"))

# Beside this file; their figures are a test's expectations.
OWN = {
    "images": Script("", "own/images.py", steps=8),
    "text": Script("", "own/text.py", steps=6),
    "train": Script("", "../../examples/python/train.py", "--batch-size 4", steps=4),
    "ranks": Script("", "own/ranks.py", steps=5, ranks=8),
}

SCRIPTS = {
    "nanogpt": Script("nanoGPT", "train.py", "config/train_shakespeare_char.py --eval_iters=2 --out_dir={out}",
                      links=(("data/shakespeare_char", "characters"),)),
    "nanogpt_fp16": Script("nanoGPT", "train.py", "config/train_shakespeare_char.py --eval_iters=2 --dtype=float16 "
                           "--gradient_accumulation_steps=3 --compile=False --out_dir={out}",
                           links=(("data/shakespeare_char", "characters"),)),
    "mingpt": Script("minGPT", "projects/chargpt/chargpt.py", path=(".",), links=(("input.txt", "input.txt"),)),
    "mnist": Script("examples", "main.py", "--epochs 1", folder="mnist", links=(("data", "mnist"),)),
    "mnist_rnn": Script("examples", "main.py", "--accel --epochs 1", folder="mnist_rnn", links=(("data", "mnist"),)),
    "siamese_network": Script("examples", "main.py", "--epochs 1", folder="siamese_network", links=(("data", "mnist"),)),
    "vae": Script("examples", "main.py", "--epochs 1", folder="vae", links=(("data", "mnist"),)),
    "dcgan": Script("examples", "main.py", "--dataset fake --accel --outf {out}", folder="dcgan", steps=6),
    "word_language_model_lstm": Script("examples", "main.py", "--accel --use-optimizer --epochs 1 --data {data}/text",
                                       folder="word_language_model"),
    "word_language_model_transformer": Script("examples", "main.py", "--accel --use-optimizer --epochs 1 --model Transformer "
                                              "--data {data}/text", folder="word_language_model"),
    "imagenet_resnet18": Script("examples", "main.py", _IMAGENET, folder="imagenet"),
    "imagenet_vit_b_16": Script("examples", "main.py", _IMAGENET + " --arch vit_b_16", folder="imagenet"),
    "torchvision_resnet50": Script("vision", "train.py", "--data-path {data}/images --batch-size 16 --workers 2 --amp --model-ema "
                                   "--output-dir {out}", folder="references/classification"),
    "torchvision_swin_t": Script("vision", "train.py", "--data-path {data}/images --model swin_t --batch-size 16 --workers 2 --opt "
                                 "adamw --clip-grad-norm 5 --label-smoothing 0.1 --auto-augment ta_wide --mixup-alpha 0.2",
                                 folder="references/classification"),
    "timm_resnet26": Script("timm", "train.py", _TIMM + " --model resnet26 --amp --model-ema --channels-last"),
    "timm_vit_small": Script("timm", "train.py", _TIMM + " --model vit_small_patch16_224 --opt adamw --amp --amp-dtype bfloat16 "
                             "--clip-grad 1.0 --mixup 0.2 --grad-accum-steps 2 --grad-checkpointing"),
    "run_glue": Script("transformers", "run_glue.py", _GLUE, folder="examples/pytorch/text-classification", links=_METRIC),
    "run_glue_fp16": Script("transformers", "run_glue.py", _GLUE + " --fp16 --gradient_accumulation_steps 2 --logging_steps 1",
                            folder="examples/pytorch/text-classification", links=_METRIC),
    "run_clm": Script("transformers", "run_clm.py", _CLM + " --bf16 --gradient_checkpointing",
                      folder="examples/pytorch/language-modeling"),
    "run_glue_no_trainer": Script("transformers", "run_glue_no_trainer.py",
                                  "--model_name_or_path {data}/bert --train_file {data}/pairs/train.csv --validation_file "
                                  "{data}/pairs/validation.csv --num_train_epochs 1", folder="examples/pytorch/text-classification",
                                  links=_METRIC),
    "diffusers_unconditional": Script("diffusers", "train_unconditional.py", "--train_data_dir {data}/images/train "
                                      "--model_config_name_or_path {data}/unet --resolution 64 --train_batch_size 8 --use_ema "
                                      "--mixed_precision bf16 --output_dir {out} --num_epochs 1",
                                      folder="examples/unconditional_image_generation"),
    "x_transformers_copy": Script("x-transformers", "train_copy.py"),
    "x_transformers_enwik8": Script("x-transformers", "train_enwik8.py", links=(("data/enwik8.gz", "enwik8.gz"),)),
    "torchtitan_debug": Script("torchtitan", "torchtitan/train.py", "--job.config_file torchtitan/models/llama3/train_configs/"
                               "debug_model.toml --training.dataset_path {data}/c4 --job.dump_folder {out}", path=(".",),
                               environment=_ONE_RANK),
}


def _compiled(script, arguments="", environment=()):
    """The same script with options that make it compile."""
    return dataclasses.replace(script, arguments=f"{script.arguments} {arguments}".strip(),
                               environment=(*script.environment, *environment), is_compiled=True)


# Their figures are those of compiled steps.
COMPILED = {
    "nanogpt_compiled": _compiled(SCRIPTS["nanogpt"]),
    "nanogpt_accumulated_compiled": _compiled(SCRIPTS["nanogpt"], "--gradient_accumulation_steps=2 --batch_size=16 --dropout=0.0"),
    "nanochat": Script("nanochat", "scripts/base_train.py", "--depth=4 --max-seq-len=512 --device-batch-size=4 --total-batch-size=4096 "
                       "--num-iterations=20 --eval-every=-1 --core-metric-every=-1 --sample-every=-1 --window-pattern=L",
                       path=(".",), environment=(("NANOCHAT_BASE_DIR", "{data}/nanochat"),), is_compiled=True),
    "timm_resnet26_compiled": _compiled(SCRIPTS["timm_resnet26"], "--torchcompile"),
    "timm_vit_small_compiled": _compiled(SCRIPTS["timm_vit_small"], "--torchcompile inductor"),
    "run_glue_compiled": _compiled(SCRIPTS["run_glue"], "--torch_compile"),
    "run_glue_fp16_compiled": _compiled(SCRIPTS["run_glue_fp16"], "--torch_compile"),
    "run_clm_compiled": _compiled(SCRIPTS["run_clm"], "--torch_compile"),
    "accelerate_glue_compiled": _compiled(SCRIPTS["run_glue_no_trainer"], environment=(("ACCELERATE_DYNAMO_BACKEND", "inductor"),)),
    "torchao_float8": Script("ao", "float8_training_example.py", folder="docs/source/examples", is_compiled=True),
    **{name: Script("", f"own/{name}.py", is_compiled=True) for name in ("compiled_muon", "compiled_llama", "compiled_adamw8bit", "compiled_flex")},
}


def every():
    """All scripts by name."""
    return {**SCRIPTS, **OWN, **COMPILED}


def fetch(name, checkouts, remote="https://github.com/{repository}"):
    """The checkout of a source; made once."""
    source = SOURCES[name]
    place = pathlib.Path(checkouts) / name
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        address = remote.format(repository=source.repository, **dict(zip(("owner", "project"), source.repository.split("/"), strict=True)))
        git = ["git", "-c", "gc.auto=0", "-C", str(place)]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "remote", "add", "origin", address], check=True)
        subprocess.run([*git, "fetch", "-q", "--depth", "1", "--filter=blob:none", "origin", source.commit], check=True)
        subprocess.run([*git, "checkout", "-q", source.commit, "--", *(source.folders or (".",))], check=True)
        (place / "done").touch()
    return place
