import { escapeHtml } from '../../escape.js'

/** A run to compare with. */
export interface RunChoice {
  readonly id: string
  readonly words: string
}

/** What can be done with a run that has ended. */
export interface RunActions {
  /** A GET with `with=<id>` compares. */
  readonly comparePath: string
  /** Runs of the same project, the best one to compare with first. */
  readonly choices: readonly RunChoice[]
  /** A POST starts the run again; absent if the visitor may not. `once` tells two clicks from two runs. */
  readonly repeat?: { readonly path: string; readonly once: string } | undefined
  /** A POST keeps the run for ever, or no longer; absent if the visitor may not. */
  readonly pin?: { readonly path: string; readonly isPinned: boolean } | undefined
}

/** Forms that work without the page's script; hidden while the run goes on. */
export function renderActions({ comparePath, choices, repeat, pin }: RunActions, isLive: boolean): string {
  const again =
    repeat === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(repeat.path)}"><input type="hidden" name="once" value="${escapeHtml(repeat.once)}"><button type="submit">Repeat this run</button></form>`
  const keep =
    pin === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(pin.path)}"><button type="submit" title="A pinned run is never deleted">${pin.isPinned ? 'Unpin' : 'Pin'} this run</button></form>`
  const hidden = isLive ? ' hidden=""' : ''
  return `<section id="actions" class="card" aria-label="Compare, repeat and download"${hidden}><div class="bar">${renderChoices(comparePath, choices)}<div class="tools"><a href="#links">Source and files</a>${keep}${again}</div></div></section>`
}

/** Nothing if there is nothing to choose from. */
export function renderChoices(path: string, choices: readonly RunChoice[], chosen?: string): string {
  if (choices.length === 0) return ''
  const options = choices.map(
    ({ id, words }) =>
      `<option value="${escapeHtml(id)}"${id === chosen ? ' selected=""' : ''}>${escapeHtml(words)}</option>`
  )
  return `<form class="choices" method="get" action="${escapeHtml(path)}"><label>Compare with <select name="with">${options.join('')}</select></label> <button type="submit">Compare</button></form>`
}
