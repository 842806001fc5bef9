/** Renders the pages. Handed in by the entry, because a gate that starts the embedded service has no pages to show. */
export type Pages = typeof import('../../report/page/served-pages.js')
