export interface TableParts {
  readonly name: string
  readonly headings: readonly string[]
  readonly rows: readonly string[]
}

/** A table in its own scrollable box, also by keyboard, for narrow screens. */
export function renderTable({ name, headings, rows }: TableParts): string {
  const head = headings.map((heading) => `<th scope="col">${heading}</th>`).join('')
  return `<div class="scroll" tabindex="0" role="group" aria-label="${name}"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}
