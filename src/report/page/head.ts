import { PAGE_STYLE } from './assets.js'

/** The start of every page, up to its body. */
export function renderHead(page: {
  readonly policy: string
  /** Escaped. */
  readonly title: string
  /** Further elements before the title and after the style of all pages, each with its line end. */
  readonly meta?: string
  readonly style?: string
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${page.policy}">
<meta name="color-scheme" content="light dark">
${page.meta ?? ''}<title>${page.title}</title>
<style>${PAGE_STYLE}</style>
${page.style ?? ''}</head>`
}
