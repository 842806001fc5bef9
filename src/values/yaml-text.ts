import { parseYaml } from './bounded-yaml.js'
import { messageOf } from '../contract/text.js'

export interface YamlText {
  /** Undefined if there are problems. */
  readonly value: unknown
  readonly problems: readonly string[]
}

/**
 * Reads YAML with the failsafe schema, so that an id such as 00123 or 123e45 stays unchanged.
 * The library's `parse` prints warnings, and the runner interprets what is printed. Here warnings are problems like
 * errors: an unresolved tag or an unknown directive means that part of the text would be ignored.
 */
export function readYaml(text: string): YamlText {
  try {
    const document = parseYaml(text, { schema: 'failsafe' })
    const problems = document.warnings.map(({ message }) => firstLine(message))
    return problems.length > 0 ? { value: undefined, problems } : { value: document.toJS(), problems }
  } catch (thrown) {
    // Also too many aliases.
    return {
      value: undefined,
      problems: [firstLine(messageOf(thrown))]
    }
  }
}

/** The other lines show the position in the text. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}
