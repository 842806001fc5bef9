/** The runner's own rule for what it takes for a command, as an oracle: `::cmd` at the trimmed start of a line, `##[cmd]` anywhere. */
export function commandsIn(log: string): string[] {
  return log.split(/\r?\n/).flatMap((line) => {
    const modern = /^\s*::([a-z][a-z-]*)(?:\s[^:]*)?::/i.exec(line)
    const old = /##\[([a-z][a-z-]*)[^\]]*\]/i.exec(line)
    return [modern?.[1], old?.[1]].flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]))
  })
}
