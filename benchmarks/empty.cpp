// Does nothing: its time is that of loading LibTorch.
int main() { return 0; }
