/** Whether a text matches as a whole; `*` stands for any characters but `/`. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [parts, patterns] = [text.split('/'), pattern.split('/')]
  return parts.length === patterns.length && parts.every((part, at) => matchesPart(part, patterns[at] ?? ''))
}

/** Each piece at the first place where it fits: that leaves the most for those after it. */
function matchesPart(text: string, pattern: string): boolean {
  const [first = '', ...between] = pattern.split('*')
  const last = between.pop()
  if (last === undefined) return text === pattern
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  let rest = text.slice(first.length, text.length - last.length)
  for (const piece of between) {
    const at = rest.indexOf(piece)
    if (at < 0) return false
    rest = rest.slice(at + piece.length)
  }
  return true
}

/** As the database compares the names of users: only the letters a to z have two forms. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
