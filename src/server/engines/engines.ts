import type { Engine } from './engine.js'

/** The tools that this service runs. */
export class Engines {
  constructor(private readonly engines: readonly Engine[]) {}

  get tools(): readonly string[] {
    return this.engines.flatMap(({ tools }) => tools)
  }

  /** True if the samples are made up; then those of every tool are. */
  get synthetic(): boolean {
    return this.engines.some(({ synthetic }) => synthetic)
  }

  of(tool: string): Engine {
    const engine = this.engines.find(({ tools }) => tools.includes(tool))
    if (engine === undefined) throw new Error(`no engine runs ${tool}`)
    return engine
  }
}
