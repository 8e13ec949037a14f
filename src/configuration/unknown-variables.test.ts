import { expect, it } from 'vitest'
import { declaredVariables } from '#test/support/declared-variables.ts'
import { findUnknown } from './unknown-variables.ts'

const known = declaredVariables().map(([name]) => name)
const found = (source: Record<string, string>) =>
  findUnknown(source, known).map(({ name, meant }) => [name, meant])

it.each([
  ['OPENAI_API_KEYS', 'OPENAI_API_KEY'],
  ['OPEN_AI_API_KEY', 'OPENAI_API_KEY'],
  ['DATABASE_ULR', 'DATABASE_URL'],
  ['DATABSE_URI', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['BASEURL', 'BASE_URL'],
  ['ENCRYPTON_KYE', 'ENCRYPTION_KEY'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['PUBLIC_ACESS', 'PUBLIC_ACCESS'],
  ['EMAIL_FROM', 'MAIL_FROM'],
  ['OUTBOUND_ALOW', 'OUTBOUND_ALLOW'],
  ['RATE_LIMITS_GENERAL', 'RATE_LIMIT_GENERAL'],
  ['AGENTSTEAD_PORT', 'PORT'],
  ['AGENTSTEAD_DATA_DIR', 'DATA_DIR'],
  ['AGENTSTEAD_PUBLIC_ACESS', 'PUBLIC_ACCESS'],
  ['agentstead_base_url', 'BASE_URL'],
  ['data_dir', 'DATA_DIR'],
])('%s is probably meant as %s', (name, meant) => {
  expect(found({ [name]: '8080x' })).toEqual([[name, meant]])
})

it('variables of systems are nothing to speak of, nor those that are read', () => {
  const names =
    'PATH HOME USER LOGNAME SHELL PWD OLDPWD LANG LC_ALL TERM TZ MAIL EDITOR HOSTNAME HOSTTYPE DISPLAY SHLVL TMPDIR NODE_ENV ' +
    'NODE_OPTIONS NODE_VERSION HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy npm_config_cache npm_package_name INIT_CWD CI DEBUG ' +
    'SSH_AUTH_SOCK XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS KUBERNETES_SERVICE_HOST KUBERNETES_PORT POSTGRES_PASSWORD PGHOST ' +
    'PGPASSWORD AWS_REGION AWS_ACCESS_KEY_ID GITHUB_TOKEN SUDO_USER LS_COLORS OPENAI_ORG_ID REDIS_URL SECRET_KEY USERNAME _'
  expect(found(Object.fromEntries(names.split(' ').map(name => [name, 'x'])))).toEqual([])
  expect(found(Object.fromEntries(known.map(name => [name, 'x'])))).toEqual([])
})

it('nor are those that Kubernetes sets for a service of this name', () => {
  const host = '10.96.0.7'
  const source = {
    AGENTSTEAD_SERVICE_HOST: host,
    AGENTSTEAD_SERVICE_PORT: '80',
    AGENTSTEAD_PORT: `tcp://${host}:80`,
  }
  expect(
    found({ ...source, AGENTSTEAD_PORT_80_TCP_PORT: '80', AGENTSTEAD_PORT_80_TCP_PROTO: 'tcp' }),
  ).toEqual([])
})
