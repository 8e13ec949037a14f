/** What a run of the whole project prints at its end: its longest files, and the part of the rotated tables that it took. */
import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** Files of a run that tests the whole project. */
const largeRun = 100
const shown = 15

export class Report implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < largeRun) return
    const times = modules.map(module => ({
      name: `${module.project.name} ${module.relativeModuleId}`,
      seconds: module.diagnostic().duration / 1000,
    }))
    const longest = times.toSorted((one, other) => other.seconds - one.seconds).slice(0, shown)
    const lines = longest.map(({ name, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${name}`)
    this.#vitest?.logger.log(
      `\nLongest files:\n${lines.join('\n')}\nRotated tables: quarter ${process.env.ROTATION}.\n`,
    )
  }
}
