# A checkpoint in the loop: save_pretrained with safetensors, then torch.save of the optimizer
# packages: transformers
import tempfile, torch
from transformers import OPTConfig, OPTForCausalLM
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = OPTForCausalLM(OPTConfig(vocab_size=400, hidden_size=64, ffn_dim=128, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64, word_embed_proj_dim=64)).to(dev)
opt = torch.optim.AdamW(model.parameters())
with tempfile.TemporaryDirectory() as folder:
    for _ in range(4):
        ids = torch.randint(0, 400, (2, 32), device=dev)
        model(input_ids=ids, labels=ids).loss.backward()
        opt.step()
        opt.zero_grad()
        model.save_pretrained(folder)
        torch.save(opt.state_dict(), folder + "/opt.pt")
