import { tmpdir } from 'node:os'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { ofOwnSchemas } from '#platform/own-schemas.ts'
import { access } from './access.ts'
import { bounds } from './bounds.ts'
import { browser } from './browser.ts'
import { channels } from './channels.ts'
import { models } from './models.ts'
import { payments } from './payments.ts'
import { server } from './server.ts'
import { storage } from './storage.ts'
import { findUnknown, type UnknownVariable } from './unknown-variables.ts'
import type { Description } from './variables.ts'

/** Every environment variable that the service reads. */
export const variables = {
  ...server.variables,
  ...storage.variables,
  ...access.variables,
  ...models.variables,
  ...bounds.variables,
  ...channels.variables,
  ...browser.variables,
  ...payments.variables,
}

const environmentSchema = Type.Object(variables)
type Environment = Static<typeof environmentSchema>

/** The checked configuration. Byte counts are bytes, limits are requests per minute. */
export type Configuration = ReturnType<typeof configurationFrom>

export type ConfigurationResult = { configuration: Configuration } | { problems: string[] }

/** Fixes the settings that libraries read from the environment by themselves; called once, when the process starts. */
export function settleEnvironment(): void {
  // A user without a home, such as that of some containers, can't load Playwright.
  process.env.HOME ??= tmpdir()
  // This setting would let pages reach this machine without the guard.
  delete process.env.PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK
}

/** Reads and checks the environment; reports every problem at once, as sentences that name the variable. */
export function readConfiguration(source: NodeJS.ProcessEnv = process.env): ConfigurationResult {
  const environment: Record<string, unknown> = {}
  for (const name of Object.keys(variables)) {
    const value = source[name]?.trim()
    // Compose files and shells leave an empty variable for an unset one.
    if (value !== undefined && value !== '') environment[name] = value
  }
  const problems = valueProblems(environment)
  const checked = environment as unknown as Environment
  for (const { problems: of } of [server, storage, access, models, bounds, channels, browser, payments])
    problems.push(...(of?.(checked as never, environment) ?? []))
  return problems.length > 0 ? { problems } : { configuration: configurationFrom(checked) }
}

/** Returns variables that are not read, but probably meant. */
export function unknownVariables(source: NodeJS.ProcessEnv = process.env): UnknownVariable[] {
  return findUnknown(source, Object.keys(variables))
}

const validate = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, ...ofOwnSchemas }).compile(
  environmentSchema,
)

/** Converts the environment's numbers, and adds the defaults. */
function valueProblems(environment: Record<string, unknown>): string[] {
  const given = { ...environment }
  validate(environment)
  const wrong = new Set((validate.errors ?? []).map(error => error.instancePath.slice(1)))
  return Object.entries(variables as unknown as Record<string, Description>)
    .filter(([name, { check }]) => wrong.has(name) || isRefused(environment[name], check))
    .map(([name, description]) => mustBe(name, description, given[name]))
}

function isRefused(value: unknown, check: Description['check']): boolean {
  return typeof value === 'string' && check !== undefined && !check(value)
}

function mustBe(name: string, { expects, secret }: Description, value: unknown): string {
  return `${name} must be ${expects}${secret ? '' : `, not ${quoted(value)}`}.`
}

/** Hides a password, which an address can hold before its `@`. */
function quoted(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.replace(/\/\/[^/]*@/, '//***@') : value)
}

function configurationFrom(environment: Environment) {
  return {
    ...server.read(environment),
    ...storage.read(environment),
    ...access.read(environment),
    ...models.read(environment),
    ...bounds.read(environment),
    ...channels.read(environment),
    ...browser.read(environment),
    ...payments.read(environment),
  }
}
