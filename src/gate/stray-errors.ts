/** Handles errors that nothing else catches; Node would print their stack traces, with whatever text they contain. */
export function catchStrayErrors(end: (thrown: unknown) => void): void {
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}
