/** Told of errors that nothing was waiting for; Node would print their stacks, with whatever text is in them. */
export function catchStrayErrors(end: (thrown: unknown) => void): void {
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}
