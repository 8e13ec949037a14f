/** Holds Dockerfile, compose.yaml and the files that it mounts against the service and each other; no container is started. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfiguration } from '#configuration/configuration.ts'
import manifest from '../../package.json' with { type: 'json' }
import { declaredVariables } from '../support/declared-variables.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

interface ComposeService {
  image: string
  command?: string | string[]
  environment?: Record<string, string | number>
  env_file?: { path: string; required: boolean }[]
  volumes?: string[]
  networks: string[] | Record<string, { ipv4_address: string }>
  stop_grace_period?: string
}

const dockerfile = read('Dockerfile').replaceAll('\\\n', '')
const composeText = read('compose.yaml')
const compose = parse(composeText, { merge: true }) as { services: Record<string, ComposeService> }
const proxyLines = read('deploy/Caddyfile')
  .split('\n')
  .map(line => line.trim())
  .filter(line => !line.startsWith('#'))
const replicas = Object.entries(compose.services).filter(([, { image }]) => image === 'agentstead')

/** What stands behind an instruction of the last stage, at its last occurrence. */
function instruction(name: string): string {
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  return [...lastStage.matchAll(new RegExp(`^\\s*${name} (.*)$`, 'gm'))].at(-1)?.[1] ?? ''
}

function imageEnvironment(): Record<string, string> {
  return Object.fromEntries(
    [...instruction('ENV').matchAll(/(\w+)=(\S*)/g)].map(([, name, value]) => [name, value]),
  )
}

const reference = /\$\{(\w+)(?::([?-])([^}]*))?\}/g

/** As compose does it: `:?` refuses a variable that is missing, `:-` has a value for it. */
function interpolated(text: string, given: Record<string, string>): string {
  return text.replace(reference, (_all, name: string, kind: string | undefined, rest: string | undefined) => {
    const value = given[name] ?? ''
    if (value === '' && kind === '?') throw new Error(`${name} is missing`)
    return value === '' && kind === '-' ? (rest ?? '') : value
  })
}

function replicaEnvironment(given: Record<string, string>): Record<string, string> {
  const [, replica] = replicas[0] ?? []
  const pairs = Object.entries(replica?.environment ?? {})
  return {
    ...imageEnvironment(),
    ...Object.fromEntries(pairs.map(([name, value]) => [name, interpolated(String(value), given)])),
  }
}

const secrets = { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'), POSTGRES_PASSWORD: '0a1b2c' }

describe('Dockerfile', () => {
  it('starts the service as npm start does, without a shell', () => {
    const words = JSON.parse(instruction('CMD')) as string[]
    expect(`exec ${words.join(' ')}`).toBe(manifest.scripts.start)
  })

  it('runs as somebody who is not root, on data in a volume', () => {
    expect(instruction('USER')).toBe('node')
    expect(imageEnvironment().DATA_DIR).toBe(instruction('VOLUME'))
  })

  it('asks the service itself whether it is alive', () => {
    expect(dockerfile).toMatch(
      /^HEALTHCHECK .*\bfetch\(`http:\/\/127\.0\.0\.1:\$\{process\.env\.PORT\}\/healthz`\)/m,
    )
  })

  it('copies nothing that .dockerignore keeps out', () => {
    const kept = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
    const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    )
    expect(new Set(copied)).toEqual(new Set(kept))
    expect(copied.filter(path => !existsSync(new URL(path, root)))).toEqual([])
  })
})

describe('compose.yaml', () => {
  it('starts a database, a proxy and two replicas that are the same but for their addresses', () => {
    expect(Object.keys(compose.services)).toEqual(['postgres', 'agentstead-1', 'agentstead-2', 'proxy'])
    expect(replicas.map(([name]) => name)).toEqual(['agentstead-1', 'agentstead-2'])
    const port = imageEnvironment().PORT
    const [, first] = replicas[0] ?? []
    for (const [name, replica] of replicas) {
      const environment = { ...first?.environment, REPLICA_URL: `http://${name}:${port}` }
      expect(replica).toEqual({ ...first, environment })
    }
  })

  it('names only variables that the service reads', () => {
    const known = new Set(declaredVariables().map(([name]) => name))
    const named = Object.keys({ ...replicaEnvironment(secrets) })
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(name => name !== 'NODE_ENV' && !known.has(name))).toEqual([])
  })

  it('passes every documented variable: those that it does not fix come from .env', () => {
    const fixed = ['DATABASE_URL', 'TRUST_PROXY', 'REPLICA_URL']
    for (const [, { env_file, environment = {} }] of replicas) {
      expect(env_file).toEqual([{ path: '.env', required: false }])
      // As compose does it: these come after the file.
      const own = Object.entries(environment).filter(
        ([name, value]) => !String(value).includes(`\${${name}:`),
      )
      expect(own.map(([name]) => name).sort()).toEqual(fixed.toSorted())
    }
    const documented = new Set(
      Array.from(read('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z_0-9]+)` \|/gm), ([, name]) => name),
    )
    expect(documented).toEqual(new Set(declaredVariables().map(([name]) => name)))
  })

  it('configures the service for PostgreSQL behind its proxy', () => {
    const result = readConfiguration(replicaEnvironment(secrets))
    const { proxy } = compose.services
    const front = Array.isArray(proxy?.networks) ? undefined : proxy?.networks.front
    expect(result).toMatchObject({
      configuration: {
        host: '0.0.0.0',
        database: { url: 'postgres://agentstead:0a1b2c@postgres:5432/agentstead' },
        encryptionKey: secrets.ENCRYPTION_KEY,
        publicAccess: 'chat',
        trustProxy: [front?.ipv4_address],
      },
    })
  })

  it('lets pg_dump lock the tables of thousands of agents', () => {
    expect(compose.services.postgres?.command).toContain('max_locks_per_transaction=1024')
  })

  it('asks for its secrets and holds none', () => {
    const required = [...composeText.matchAll(reference)].filter(([, , kind]) => kind === '?')
    expect(new Set(required.map(([, name]) => name))).toEqual(new Set(Object.keys(secrets)))
    expect(() => replicaEnvironment({ POSTGRES_PASSWORD: '0a1b2c' })).toThrow('ENCRYPTION_KEY is missing')
    expect(compose.services.postgres?.environment?.POSTGRES_PASSWORD).toMatch(
      /^\$\{POSTGRES_PASSWORD:\?[^}]+\}$/,
    )
    expect(read('.gitignore').split('\n')).toContain('.env')
    expect(read('.dockerignore').split('\n')).toContain('*')
  })

  it('mounts files that are there', () => {
    const mounted = Object.values(compose.services)
      .flatMap(({ volumes = [] }) => volumes)
      .filter(volume => volume.startsWith('.'))
      .map(volume => volume.split(':')[0] ?? '')
    expect(mounted.length).toBe(2)
    expect(mounted.filter(path => !existsSync(new URL(path, root)))).toEqual([])
  })

  it('gives a replica more time to end than it takes', () => {
    for (const [, { stop_grace_period: period = '' }] of replicas)
      expect(Number.parseInt(period, 10)).toBeGreaterThan(10)
  })
})

describe('deploy/Caddyfile', () => {
  it('balances between all replicas, at the port that they listen on', () => {
    const port = imageEnvironment().PORT
    const upstreams = /^reverse_proxy (.*) \{$/m.exec(proxyLines.join('\n'))?.[1]?.split(' ')
    expect(upstreams).toEqual(replicas.map(([name]) => `${name}:${port}`))
  })

  it('asks replicas whether they are ready, and holds no events back', () => {
    expect(proxyLines).toContain('health_uri /readyz')
    expect(proxyLines.filter(line => /^(flush_interval|encode|response_buffers)\b/.test(line))).toEqual([])
  })
})
