import { follow } from './connection.js'
import { find } from './elements.js'
import { watchTheme } from './theme.js'

watchTheme(() => undefined)
const runs = find('runs', HTMLElement)
follow(runs.dataset.events ?? '', (data) => {
  // The service has written it, every text in it escaped.
  runs.innerHTML = JSON.parse(data) as string
  return false
})
