// A font imported as a file: its path, also inside the single executable.
declare module "*.ttf" {
  const path: string;
  export default path;
}
