import type { Judgement } from './judgement.js'

/** What a plan itself says must hold, as its tool judged it; it begins with the tool's name. */
export interface ToolLine {
  readonly text: string
  readonly holds: boolean
}

/** After all lines of the gate. */
const LINE = Number.MAX_SAFE_INTEGER

export function judgeToolLines(lines: readonly ToolLine[] = []): Judgement[] {
  return lines.map(({ text, holds }) => ({
    threshold: { isTools: true, text, line: LINE, level: 'fail' },
    verdict: holds ? 'passed' : 'failed',
    scopesChecked: 0,
    reason: `${text} ${holds ? 'holds' : 'is broken'}, as the tool judged it`
  }))
}

/** The broken ones: whatever else is missing, the tool has seen what breaks them. */
export function brokenByTool(judgements: readonly Judgement[]): Judgement[] {
  return judgements.filter(({ threshold, verdict }) => 'isTools' in threshold && verdict === 'failed')
}

/** Of several runs or nodes: each line once, and it holds if it does in all of them. */
export function joinToolLines(lines: readonly ToolLine[]): ToolLine[] {
  const holds = new Map<string, boolean>()
  for (const line of lines) holds.set(line.text, line.holds && holds.get(line.text) !== false)
  return [...holds].map(([text, isHeld]) => ({ text, holds: isHeld }))
}
