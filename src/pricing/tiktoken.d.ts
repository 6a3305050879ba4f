// A tokenizer's table, imported as a file: its path, which also works inside the single executable.
declare module "*.tiktoken" {
  const path: string;
  export default path;
}
