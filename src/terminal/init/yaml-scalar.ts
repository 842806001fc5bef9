/** A value on one line of YAML, in quotes if it needs them. */
export function yamlScalar(text: string): string {
  const isPlain = /^[A-Za-z0-9][\w .<>=%/:?&+~-]*$/.test(text) && !/: |:$|\s$/.test(text)
  return isPlain ? text : `'${text.replace(/\s+/g, ' ').replaceAll("'", "''")}'`
}
