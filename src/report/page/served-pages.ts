// What a service needs to show its runs.
export { renderListPage, renderRunList } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
