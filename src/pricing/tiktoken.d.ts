// A tokenizer's table, imported as a file: the path of it, also inside the single executable.
declare module "*.tiktoken" {
  const path: string;
  export default path;
}
