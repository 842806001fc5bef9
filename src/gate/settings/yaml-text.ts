import { parseDocument } from 'yaml'

export interface YamlText {
  /** Undefined when there are problems. */
  readonly value: unknown
  readonly problems: readonly string[]
}

/**
 * Reads YAML with the failsafe schema, so that an id such as 00123 or 123e45 stays what it was.
 * The library's `parse` prints warnings by itself, and the runner reads what is printed. Here they are problems like its
 * errors: an unresolved tag or an unknown directive means that the text says something which would be ignored.
 */
export function readYaml(text: string): YamlText {
  try {
    // 'silent' would also drop the error about a second document.
    const document = parseDocument(text, { schema: 'failsafe', logLevel: 'error' })
    // What follows a first error mostly follows from it.
    const found = document.errors.length > 0 ? document.errors.slice(0, 1) : document.warnings
    const problems = found.map(({ message }) => firstLine(message))
    return problems.length > 0 ? { value: undefined, problems } : { value: document.toJS(), problems }
  } catch (thrown) {
    // Too many aliases, for one.
    return {
      value: undefined,
      problems: [firstLine(thrown instanceof Error ? thrown.message : String(thrown))]
    }
  }
}

/** The rest shows the place in the text, over several lines. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}
