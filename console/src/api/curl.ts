import { type ApiRequest, addressOf } from './request.ts'
import { createStore } from './store.ts'

/** The caller's means of authentication, which decides what a command needs in addition. */
export type Via = 'dev_user' | 'gateway' | 'key' | 'session' | null

const maxRemembered = 50

/** The latest requests of views, newest first. */
export const latestRequests = createStore<readonly ApiRequest[]>([])
/** Set once the caller is known. */
export const calledVia = createStore<Via>(null)

/** Keeps a request for the line at the foot. */
export function remember(request: ApiRequest): void {
  latestRequests.set([request, ...latestRequests.get()].slice(0, maxRemembered))
}

/** Returns the POSIX shell command that sends the request. */
export function curl(request: ApiRequest, origin: string, via: Via = null): string {
  const { method, body, form, secrets = [] } = request
  const content = form !== undefined ? formOf(form) : body === undefined ? [] : bodyOf(body, secrets)
  const isImplied = method === 'GET' || (method === 'POST' && content.length > 0)
  const signIn = via === 'session' || via === 'key' ? ['-H "Authorization: Bearer $AGENTSTEAD_KEY"'] : []
  const command = [
    'curl',
    ...(isImplied ? [] : ['-X', method]),
    quote(origin + addressOf(request)),
    ...signIn,
    ...content,
  ].join(' ')
  return via === 'gateway' ? `${command} # add the header by which the gateway knows you` : command
}

/** Quotes a text as one word of a shell. */
export function quote(text: string): string {
  return /^[\w@%+:,./=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function bodyOf(body: unknown, secrets: readonly string[]): string[] {
  const hidden = new Map<string, string>()
  const json = JSON.stringify(body, (name, value: unknown) => {
    if (typeof value !== 'string' || (!secrets.includes(name) && !isMasked(value))) return value
    const variable = name.replaceAll(/\W/g, '_').toUpperCase()
    const mark = crypto.randomUUID()
    hidden.set(mark, variable)
    return mark
  })
  const data = [...hidden].reduce(
    (text, [mark, variable]) => text.replace(mark, () => `'"$${variable}"'`),
    `'${json.replaceAll("'", `'\\''`)}'`,
  )
  return ["-H 'Content-Type: application/json'", '--data-raw', data]
}

/** Values that the server returns instead of secrets. */
const isMasked = (value: string) => /^[•*]{3,}/.test(value)

function formOf(form: FormData): string[] {
  return [...form].flatMap(([name, value]) =>
    typeof value === 'string'
      ? ['--form-string', quote(`${name}=${value}`)]
      : ['-F', quote(`${name}=@"${value.name.replaceAll(/["\\]/g, letter => `\\${letter}`)}"`)],
  )
}
