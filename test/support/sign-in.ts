import { expect } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { createFileLinks, createStoredLinks, makeLink } from '../../src/features/sign-in/links.ts'
import type { TestApp } from './build-app.ts'

/** Signs a person in by a link of the operator; returns the headers of our own page in their browser. */
export async function signInByLink(app: TestApp, email: string): Promise<Record<string, string>> {
  const { platform, isExclusive } = app.service.infrastructure
  const links = isExclusive
    ? createFileLinks(app.dataDirectory, systemClock)
    : createStoredLinks(platform, systemClock)
  const [, token] = (await makeLink(links, systemClock, '', email)).split('#token=')
  const answer = await app.call('POST', '/api/auth/link', { body: { token } })
  expect(answer).toMatchObject({ status: 200 })
  const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
  return { cookie, 'sec-fetch-site': 'same-origin' }
}
