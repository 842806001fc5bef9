import { matchesPieces } from '../../contract/text.js'

/** Whether a text matches as a whole; `*` stands for any characters but `/`. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [parts, patterns] = [text.split('/'), pattern.split('/')]
  return (
    parts.length === patterns.length &&
    patterns.every((part, at) => matchesPieces(part.split('*'), parts[at] ?? ''))
  )
}

/** As the database compares the names of users: only the letters a to z have two forms. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
