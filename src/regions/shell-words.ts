/** One word of POSIX sh, whatever its characters. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
