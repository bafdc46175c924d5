# Whisper: a spectrogram encoder and a text decoder
# packages: transformers
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration
dev = "cuda" if torch.cuda.is_available() else "cpu"
config = WhisperConfig(vocab_size=500, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
                       decoder_ffn_dim=128, max_source_positions=100, num_mel_bins=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
model = WhisperForConditionalGeneration(config).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    loss = model(input_features=torch.randn(2, 20, 200, device=dev), labels=torch.randint(3, 500, (2, 16), device=dev)).loss
    opt.zero_grad()
    loss.backward()
    opt.step()
