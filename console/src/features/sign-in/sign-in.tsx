import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { type Caller, callerQuery } from '#console/api/caller.ts'
import { send } from '#console/api/client.ts'
import { post } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { signOut } from '#console/shell/sign-in.ts'
import { Button } from '#console/ui/button.tsx'
import { CopyLine } from '#console/ui/code.tsx'
import { returnTarget } from './return-target.ts'
import { text } from './text.ts'
import './sign-in.css'

/** Takes the token from the address's fragment, which no log has seen, also out of the history. */
function takeToken(): { token?: string; invitation?: string } {
  const fragment = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return fragment
}

/** The sign-in by a link, an invitation or the identity provider. */
export default function SignIn() {
  const t = useText(text)
  const caller = useQuery(callerQuery).data
  const [{ token, invitation }] = useState(takeToken)
  const [refusal, setRefusal] = useState<string>()
  const [isSending, setSending] = useState(token !== undefined)
  const target = returnTarget(location.search, location.origin)

  useEffect(() => {
    document.title = `${t.title} · agentstead`
  }, [t.title])

  // A link that is opened in a tab with this page only changes the fragment.
  useEffect(() => {
    const begin = () => location.reload()
    addEventListener('hashchange', begin)
    return () => removeEventListener('hashchange', begin)
  }, [])

  async function redeem(given: string) {
    setSending(true)
    try {
      await send(post('/api/auth/link', { body: { token: given } }), { isShown: false })
      location.replace(target)
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
      setSending(false)
    }
  }

  // A link signs in at once. An invitation waits for a click because mail scanners open links, too.
  useEffect(() => {
    if (token !== undefined) void redeemOnce(token, redeem)
  })

  return (
    <main id="main" className="sign-in">
      <section className="card">
        <img src="/icon.svg" alt="" width={36} height={36} />
        <h1>{t.title}</h1>
        <div role="status">{isSending && <p>{t.signingIn}</p>}</div>
        {refusal !== undefined && (
          <p className="error" role="alert">
            {refusal}
          </p>
        )}
        {invitation !== undefined && refusal === undefined && !isSending && (
          <Way text={t.invited}>
            <Button kind="primary" onClick={() => void redeem(invitation)}>
              {t.accept}
            </Button>
          </Way>
        )}
        {!isSending && (invitation === undefined || refusal !== undefined) && caller && (
          <Ways caller={caller} target={target} isInvitation={invitation !== undefined} />
        )}
      </section>
    </main>
  )
}

const redeemed = new Set<string>()

/** Redeems a link once, even if the page is rendered repeatedly. */
async function redeemOnce(token: string, redeem: (token: string) => Promise<void>): Promise<void> {
  if (redeemed.has(token)) return
  redeemed.add(token)
  await redeem(token)
}

interface WaysProps {
  caller: Caller
  target: string
  isInvitation: boolean
}

function Ways({ caller, target, isInvitation }: WaysProps) {
  const t = useText(text)
  const { user, via, identity_provider: provider } = caller
  if (user !== null)
    return (
      <Way text={t.signedInAs(user.email)}>
        <a className="btn primary" href={target}>
          {t.goOn}
        </a>
        {via === 'session' && <Button onClick={() => void signOut()}>{t.signOut}</Button>}
      </Way>
    )
  return (
    <>
      {provider !== null && (
        <Way>
          <a className="btn primary" href={`/api/auth/sign-in?return_to=${encodeURIComponent(target)}`}>
            {t.signInAt(provider)}
          </a>
        </Way>
      )}
      <Way text={isInvitation ? t.askInviter : provider === null ? t.openLink : t.orLink}>
        {!isInvitation && <CopyLine label={t.command} text={t.commandLine} />}
      </Way>
    </>
  )
}

function Way({ text, children }: { text?: string; children: ReactNode }) {
  return (
    <div className="way">
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  )
}
