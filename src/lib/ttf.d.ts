// A font, imported as a file: the path of it, also inside the single executable.
declare module "*.ttf" {
  const path: string;
  export default path;
}
