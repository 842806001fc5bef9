import type { KubeConfig } from '@kubernetes/client-node'
import type { ChildProcess, spawn } from 'node:child_process'

const KILL_AFTER_MS = 1000

interface WithExec {
  execFn?: typeof spawn
}

/** The running plugins of a kubeconfig: the package starts them and waits for ever. */
export class Plugins {
  readonly #running = new Set<ChildProcess>()

  /** From now on, what this one starts is known. */
  watch(config: KubeConfig): void {
    // No other way leads to its processes.
    const { authenticators = [] } = config as unknown as { authenticators?: WithExec[] }
    for (const authenticator of authenticators) {
      const start = authenticator.execFn
      if (start === undefined) continue
      authenticator.execFn = ((...args: Parameters<typeof spawn>) => {
        const child = start(...args)
        this.#running.add(child)
        child.once('close', () => this.#running.delete(child))
        return child
      }) as typeof spawn
    }
  }

  /** Nobody waits for them any more. */
  end(): void {
    for (const child of this.#running) {
      this.#running.delete(child)
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
    }
  }
}
