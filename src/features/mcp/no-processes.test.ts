/** Servers are reached by HTTP alone: there is no way from a request to a process. */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const spawning = /child_process|worker_threads|\/stdio|StdioClientTransport\(/

describe('nothing that could start a process is within reach', () => {
  it('of the feature', () => {
    const files = globSync('src/features/mcp/**/*.ts').filter(file => !file.endsWith('.test.ts'))
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) expect(readFileSync(file, 'utf8'), file).not.toMatch(spawning)
  })

  it('of what it imports of the library', async () => {
    const loaded = globSync('node_modules/@modelcontextprotocol/client/dist/{index,src-*,ajv*,shimsNode}.mjs')
    expect(loaded.length).toBeGreaterThan(2)
    for (const file of loaded)
      expect(readFileSync(file, 'utf8'), file).not.toMatch(/child_process|cross-spawn/)
  })
})
