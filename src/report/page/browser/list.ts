import { Connection } from './connection.js'
import { watchCopying } from './copy-table.js'
import { find, rewrite } from './elements.js'
import { watchTheme } from './theme.js'

watchTheme(() => undefined)
watchCopying()
const runs = find('runs', HTMLElement)
new Connection(runs.dataset.events ?? '', (data) => {
  // Rendered by the service, with all text escaped.
  rewrite(runs, JSON.parse(data) as string)
  return false
})
