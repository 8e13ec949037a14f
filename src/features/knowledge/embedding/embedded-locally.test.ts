import { describe, expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { makeLocalModel } from '#test/support/local-model.ts'
import { upload, uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'

const settings = '/api/agents/default/settings'
const otters = { name: 'otters.txt', content: 'Otters hold hands.' }
const tea = { name: 'tea.txt', content: 'Green tea is steamed.' }

const local = (path: string) => ({ EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: path })

async function found(app: TestApp, query: string): Promise<string[]> {
  const path = `/api/agents/default/sources/search?query=${query}`
  const { status, body } = await app.call<{ results: SearchResult[] }>('GET', path)
  expect(status).toBe(200)
  return body.results.map(({ content }) => content)
}

describe('documents that a model on this machine embeds', () => {
  it('are found by what they mean', async () => {
    const { path, installRuntime } = makeLocalModel()
    installRuntime()
    const app = await testApp({ environment: local(path) })
    await uploadAndProcess(app, tea)
    await uploadAndProcess(app, otters)
    expect((await found(app, 'swimmer'))[0]).toBe(otters.content)
    expect((await found(app, 'beverage'))[0]).toBe(tea.content)
  })

  it('are refused while its packages are missing, which start and upload tell; all else goes on', async () => {
    const { path, installRuntime } = makeLocalModel()
    const app = await testApp({ environment: local(path) })
    await app.service.caughtUp
    expect(app.logged.join('')).toMatch(/Documents cannot be embedded .*npm install onnxruntime-node/)
    const { status, body } = await upload(app, otters)
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'MODEL_NOT_CONFIGURED' } } })
    expect(JSON.stringify(body)).toContain('npm install onnxruntime-node @huggingface/tokenizers')
    expect((await app.call('GET', '/healthz')).status).toBe(200)
    expect(await found(app, 'otters')).toEqual([])
    installRuntime()
    await uploadAndProcess(app, otters)
    expect(await found(app, 'swimmer')).toEqual([otters.content])
  })

  it('are found by their words when the packages are gone', async () => {
    const { path, installRuntime, remove } = makeLocalModel()
    installRuntime()
    const app = await testApp({ environment: local(path) })
    await uploadAndProcess(app, otters)
    const dataDirectory = app.dataDirectory
    await app.service.close()
    remove('node_modules')
    const next = await testApp({ environment: local(path), dataDirectory })
    expect(await found(next, 'otters')).toEqual([otters.content])
    expect(await found(next, 'swimmer')).toEqual([])
  })
})

describe('an agent', () => {
  const elsewhere = ['/etc', '../../etc', 'file:///etc', 'http://169.254.169.254/', 'C:\\models', './onnx']

  it('can name no folder', async () => {
    const { path, installRuntime } = makeLocalModel()
    installRuntime()
    const app = await testApp({ environment: local(path) })
    for (const embedding_model of elsewhere)
      for (const change of [{ embedding_model }, { embedding_provider: 'local', embedding_model }]) {
        const { status, body } = await app.call('PUT', settings, { body: change })
        const refused = { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }
        expect({ status, body }, embedding_model).toMatchObject(refused)
        expect(JSON.stringify(body)).not.toContain(path)
      }
    await uploadAndProcess(app, otters)
    expect(await found(app, 'swimmer')).toEqual([otters.content])
  })

  it('can name none where the operator has no model, either', async () => {
    const app = await testApp()
    for (const embedding_model of elsewhere) {
      const change = { embedding_provider: 'local', embedding_model }
      const { status, body } = await app.call('PUT', settings, { body: change })
      const refused = { status: 400, body: { error: { code: 'MODEL_NOT_CONFIGURED' } } }
      expect({ status, body }, embedding_model).toMatchObject(refused)
    }
  })

  it("can choose another one than the operator's, and go back to it", async () => {
    const { path, installRuntime } = makeLocalModel()
    installRuntime()
    const app = await testApp({ environment: local(path) })
    await uploadAndProcess(app, otters)
    for (const [embedding_provider, results] of [
      ['builtin', []],
      ['local', [otters.content]],
    ] as const) {
      expect((await app.call('PUT', settings, { body: { embedding_provider } })).status).toBe(200)
      await app.service.infrastructure.runner.idle()
      expect(await found(app, 'swimmer')).toEqual(results)
    }
  })
})

it('a model that is still being loaded does not keep the service from ending', async () => {
  const { path, installRuntime, write } = makeLocalModel()
  installRuntime()
  write(
    'node_modules/onnxruntime-node/index.cjs',
    `module.exports = { Tensor: class {}, InferenceSession: { create: () => new Promise(() => setInterval(() => {}, 1000)) } }`,
  )
  const { service } = await testApp({ environment: local(path) })
  await service.close()
  await service.caughtUp
})
