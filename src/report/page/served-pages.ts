// What a service needs to show its runs to people.
export { renderLoginPage } from './login-page.js'
export type { LoginForm } from './login-page.js'
export { renderListPage, renderRunList } from './run-list.js'
export type { RunLine, RunListPage } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
export type { RenderedPage, RunState } from './run-page.js'
