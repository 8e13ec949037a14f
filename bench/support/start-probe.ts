import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Starts `health-probe.ts`; gives the function that ends it, which tells what each of the addresses took, in milliseconds. */
export async function startProbe(addresses: string[]): Promise<() => Promise<number[][]>> {
  const parameters = ['bench/support/health-probe.ts', ...addresses]
  const child = spawn(process.execPath, parameters, { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  return async () => {
    const line = once(lines, 'line')
    child.stdin.write('end\n')
    const [times] = await line
    return JSON.parse(times)
  }
}
