"""Small random data sets and models, in the layout that each script reads. No figure depends on a value in them."""
import csv
import json
import pathlib
import pickle
import random
import struct

WORDS = [f"w{number}" for number in range(300)]


def text(folder, names=("train.txt", "valid.txt", "test.txt"), lines=2000):
    """Lines of random words."""
    choose = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("".join(" ".join(choose.choices(WORDS, k=30)) + "\n" for _ in range(lines)))


def c4(folder, lines=2000):
    """Lines of JSON with a text each."""
    choose = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    texts = (" ".join(choose.choices(WORDS, k=200)) for _ in range(lines))
    (folder / "data.json").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def images(folder, splits=("train", "val"), classes=8, count=24, side=256):
    """JPEG images in a folder for each class."""
    import numpy
    from PIL import Image

    draw = numpy.random.default_rng(0)
    for split in splits:
        for label in range(classes):
            place = folder / split / f"class_{label}"
            place.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                pixels = draw.integers(0, 255, (side, side, 3), dtype="uint8")
                Image.fromarray(pixels).save(place / f"class_{label}_{number}.jpg", quality=30)


def mnist(folder, count=2000):
    """Files of the MNIST data set, as torchvision keeps them once it has downloaded them."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for split in ("train", "t10k"):
        (raw / f"{split}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, count, 28, 28) + bytes(28 * 28 * count))
        labels = bytes(number % 10 for number in range(count))
        (raw / f"{split}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + labels)


def characters(folder, symbols=65, count=200_000):
    """nanoGPT's data set of characters."""
    import numpy

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        numbers = numpy.random.default_rng(0).integers(0, symbols, count, dtype=numpy.uint16)
        numbers.tofile(folder / f"{name}.bin")
    letters = [chr(40 + number) for number in range(symbols)]
    meta = {"vocab_size": symbols, "itos": dict(enumerate(letters)), "stoi": {letter: i for i, letter in enumerate(letters)}}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def bytes_of_text(path, count=95_000_000):
    """A gzip file of so many bytes, as enwik8 is kept."""
    import gzip

    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"a b c d e " * (count // 10))


def pairs(folder, count=400):
    """Pairs of sentences with a label, as GLUE's."""
    choose = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "validation"):
        with open(folder / f"{split}.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["sentence1", "sentence2", "label"])
            for number in range(count):
                rows.writerow([" ".join(choose.choices(WORDS, k=20)), " ".join(choose.choices(WORDS, k=20)), number % 2])


def tokenizer(folder):
    """A tokenizer of whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(special + WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, **names).save_pretrained(folder)


def bert(folder):
    """A checkpoint of a BERT that is as wide as BERT-base and has four layers; with it its tokenizer."""
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer(folder)
    config = BertConfig(vocab_size=30522, num_hidden_layers=4)
    BertForSequenceClassification(config).save_pretrained(folder)


def gpt2(folder):
    """The configuration of a GPT-2 with four layers, and a tokenizer; no weights."""
    from transformers import GPT2Config

    tokenizer(folder)
    GPT2Config(vocab_size=50257, n_layer=4).save_pretrained(folder)


METRIC = """import datasets
import evaluate


class Accuracy(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("int32"), "references": datasets.Value("int32")})
        return evaluate.MetricInfo(description="", citation="", features=features)

    def _compute(self, predictions, references):
        return {"accuracy": sum(a == b for a, b in zip(predictions, references)) / len(references)}
"""


def metric(folder):
    """The share of right answers, as a local module of the package evaluate."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "accuracy.py").write_text(METRIC)


def unet(folder):
    """The configuration of a small diffusion model."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = {"down_block_types": ["DownBlock2D", "AttnDownBlock2D"], "up_block_types": ["AttnUpBlock2D", "UpBlock2D"]}
    config = {"_class_name": "UNet2DModel", "sample_size": 64, "in_channels": 3, "out_channels": 3, "layers_per_block": 2,
              "block_out_channels": [64, 128], **blocks}
    (folder / "config.json").write_text(json.dumps(config))


def nanochat(folder, lines=4000):
    """A tokenizer of bytes, how many bytes each of its tokens has, and two files of documents."""
    import pyarrow
    import pyarrow.parquet
    import tiktoken
    import torch

    (folder / "tokenizer").mkdir(parents=True)
    names = ["bos", "user_start", "user_end", "assistant_start", "assistant_end", "python_start", "python_end", "output_start", "output_end"]
    special = {f"<|{name}|>": 256 + place for place, name in enumerate(names)}
    made = tiktoken.Encoding("bytes", pat_str=r"\S+|\s+", mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens=special)
    (folder / "tokenizer" / "tokenizer.pkl").write_bytes(pickle.dumps(made))
    torch.save(torch.tensor([1] * 256 + [0] * len(names), dtype=torch.int32), folder / "tokenizer" / "token_bytes.pt")
    choose = random.Random(0)
    documents = folder / "base_data_climbmix"
    documents.mkdir()
    for shard in range(2):
        texts = [" ".join(choose.choices(WORDS, k=200)) for _ in range(lines)]
        pyarrow.parquet.write_table(pyarrow.table({"text": texts}), documents / f"shard_{shard:05d}.parquet", row_group_size=500)


def make(folder):
    """Everything, once."""
    folder = pathlib.Path(folder)
    for name, function in {"text": text, "images": images, "mnist": mnist, "characters": characters, "pairs": pairs,
                           "bert": bert, "gpt2": gpt2, "unet": unet, "accuracy": metric, "c4": c4, "nanochat": nanochat}.items():
        if not (folder / name).exists():
            function(folder / name)
    if not (folder / "enwik8.gz").exists():
        bytes_of_text(folder / "enwik8.gz")
    if not (folder / "input.txt").exists():
        (folder / "input.txt").write_text("".join(chr(32 + number % 90) for number in range(100_000)))
