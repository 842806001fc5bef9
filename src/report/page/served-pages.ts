// What a service needs to show its runs to people.
export { renderDetourPage, renderLoginPage } from './login-page.js'
export type { LoginForm } from './login-page.js'
export { renderListPage, renderRunList } from './run-list.js'
export type { ListView, RunLine, RunListPage } from './run-list.js'
export { describeRun, renderRunPage } from './run-page.js'
export type { RenderedPage, RunJudgement, RunState } from './run-page.js'
export type { ThresholdEditor, Visitor } from './served-parts.js'
