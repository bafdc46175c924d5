"""A tokenizer whose words are numbers, so that nothing is downloaded."""
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def small_tokenizer(count=256):
    words = Tokenizer(models.WordLevel({str(i): i for i in range(count)}, unk_token="0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="0", eos_token="1", bos_token="2", unk_token="0")
    made.chat_template = "{% for m in messages %}{{ m['content'] }} 1 {% endfor %}"
    return made
