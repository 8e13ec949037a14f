import { expect, it, onTestFinished } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'

it('GET auth/me names the caller, how it is known, and what is open to callers without a user', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const behind = await testApp({ environment: { ...gateway.environment, PUBLIC_ACCESS: 'read' } })
  const ada = await gateway.headers('Ada@example.com', { name: 'Ada' })
  const version = expect.stringMatching(/^\d+\.\d+/)
  expect((await behind.call('GET', '/api/auth/me', { headers: ada })).body).toEqual({
    user: { email: 'ada@example.com', name: 'Ada' },
    ...{ via: 'gateway', public_access: 'read', version },
  })
  expect((await behind.call('GET', '/api/auth/me')).body).toMatchObject({ user: null, via: null })
  const alone = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
  const me = (headers = {}) => alone.call('GET', '/api/auth/me', { headers })
  expect((await me()).body).toMatchObject({
    user: { email: 'dev@example.com', name: null },
    ...{ via: 'dev_user', public_access: 'full' },
  })
  expect((await me({ origin: 'https://else.example' })).body).toMatchObject({
    user: null,
    public_access: 'chat',
  })
})
