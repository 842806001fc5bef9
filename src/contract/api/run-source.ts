import type { RunRequest } from '../records.js'
import { when } from '../text.js'

// What a run was started for. The API has no place for it but the notes, so it is lines of them: `Commit: https://…`.

/** The addresses of the commit, its pull request and the workflow run; each absent if there is none. */
export interface RunSource {
  readonly commit?: string | undefined
  readonly pullRequest?: string | undefined
  readonly workflowRun?: string | undefined
}

interface Part {
  readonly key: keyof RunSource
  readonly name: string
  /** The end of its address, with what people call it by. */
  readonly form: RegExp
  readonly say: (word: string) => string
}

const PARTS: readonly Part[] = [
  {
    ...{ key: 'commit', name: 'Commit', form: /\/commits?\/([0-9a-f]{7,64})$/i },
    say: (word) => word.slice(0, 7).toLowerCase()
  },
  {
    ...{ key: 'pullRequest', name: 'Pull request' },
    form: /\/(?:pull|pulls|pull-requests|merge_requests)\/(\d{1,10})$/,
    say: (word) => `#${word}`
  },
  {
    ...{ key: 'workflowRun', name: 'Workflow run', form: /\/actions\/runs\/(\d{1,20})$/ },
    say: (word) => word
  }
]

/** The notes of a run that has no others; undefined if nothing is known. */
export function describeSource(source: RunSource): string | undefined {
  const lines = PARTS.flatMap(({ key, name }) =>
    when(source[key] !== undefined, `${name}: ${source[key] ?? ''}`)
  )
  return lines.length === 0 ? undefined : lines.join('\n')
}

interface SourcePart {
  readonly key: keyof RunSource
  readonly name: string
  /** As people call it: `0123abc`, `#12`. */
  readonly word: string
  /** As written: whoever links to it has to check it. */
  readonly address: string
}

/** What the notes of a run say about its source, whoever wrote them, and the lines that say something else. */
export function readSource(notes: string): { parts: readonly SourcePart[]; rest: string } {
  const parts: SourcePart[] = []
  const rest = notes.split(/\r\n|\n|\r/).filter((line) => {
    const part = readPart(line.trim())
    const isNew = part !== undefined && parts.every(({ key }) => key !== part.key)
    if (isNew) parts.push(part)
    return !isNew
  })
  return { parts, rest: rest.join('\n').trim() }
}

function readPart(line: string): SourcePart | undefined {
  const [, name = '', address = ''] = /^([A-Z][a-z ]+): (https?:\/\/[^\s]{1,1000})$/.exec(line) ?? []
  const part = PARTS.find((each) => each.name === name)
  const [, word] = part?.form.exec(address) ?? []
  return part && word !== undefined ? { key: part.key, name, word: part.say(word), address } : undefined
}

/** The base of a comparison was built from another commit. */
export function withoutCommit(notes: string | undefined): string | undefined {
  if (notes === undefined) return undefined
  const kept = notes.split('\n').filter((line) => readPart(line)?.key !== 'commit')
  return kept.length === 0 ? undefined : kept.join('\n')
}

/** The tag by which a gate finds its own runs; it says nothing to people. */
export const MARKER = /loadgate-[0-9a-f]{8}-[0-9a-f]{4}-/i

/** What describes a repeat, which somebody started later: not what the run was for, nor the tag of the gate that started it. */
export function describeRepeat(id: string, { notes, tags }: Pick<RunRequest, 'notes' | 'tags'>) {
  const kept = (notes ?? '')
    .split(/\r\n|\n|\r/)
    .filter((line) => readPart(line.trim()) === undefined && !/^Repeat of \w+$/.test(line))
  return {
    notes: [`Repeat of ${id}`, ...kept].join('\n').trim(),
    tags: tags.filter((tag) => !MARKER.test(tag))
  }
}
