/** Runs the service and the build of the web console; each is repeated when a file of it changes. */
import { spawn } from 'node:child_process'

const commands = [
  ['--watch', '--import', './src/compile-cache.mjs', 'src/main.ts'],
  ['scripts/build-console.ts', '--watch'],
]
const children = commands.map(parameters => spawn(process.execPath, parameters, { stdio: 'inherit' }))
const end = (signal: NodeJS.Signals) => {
  for (const child of children) child.kill(signal)
}
process.on('SIGINT', end).on('SIGTERM', end)
for (const child of children)
  child.on('exit', code => {
    end('SIGTERM')
    process.exitCode ||= code ?? 0
  })
