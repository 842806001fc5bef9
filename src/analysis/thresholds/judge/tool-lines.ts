import type { Judgement } from './judgement.js'

/** What a plan itself says must hold, as its tool judged it; it begins with the tool's name. */
export interface ToolLine {
  readonly text: string
  /** Null if that is not known. */
  readonly holds: boolean | null
  /** Why it is not known, or more about why it is broken. */
  readonly reason?: string
}

/** After all lines of the gate. */
const LINE = Number.MAX_SAFE_INTEGER

export function judgeToolLines(lines: readonly ToolLine[] = []): Judgement[] {
  return lines.map((line) => ({
    threshold: { isToolLine: true, text: line.text, line: LINE, level: 'fail' },
    verdict: line.holds === null ? 'inconclusive' : line.holds ? 'passed' : 'failed',
    scopesChecked: 0,
    reason: describe(line)
  }))
}

function describe({ text, holds, reason }: ToolLine): string {
  const how = holds === null ? 'could not be judged' : holds ? 'holds' : 'is broken'
  return reason === undefined ? `${text} ${how} (judged by the tool)` : `${text} ${how}: ${reason}`
}

/** The broken ones: whatever else is missing, the tool has seen what breaks them. */
export function brokenByTool(judgements: readonly Judgement[]): Judgement[] {
  return judgements.filter(({ threshold, verdict }) => 'isToolLine' in threshold && verdict === 'failed')
}

/** The lines of several runs, each once. A line that is broken in one run is broken, and it holds if it holds in all. */
export function joinToolLines(lines: readonly ToolLine[]): ToolLine[] {
  const worst = new Map<string, ToolLine>()
  for (const line of lines) {
    const before = worst.get(line.text)
    if (before === undefined || rankOf(line) < rankOf(before)) worst.set(line.text, line)
  }
  return [...worst.values()]
}

function rankOf({ holds }: ToolLine): number {
  return holds === null ? 1 : holds ? 2 : 0
}
