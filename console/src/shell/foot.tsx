import { calledVia, curl, latestRequests } from '#console/api/curl.ts'
import { useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { CopyButton } from '#console/ui/code.tsx'

/** The newest request of the views as a command. */
export function Foot() {
  const t = useText(frameText)
  const [newest] = useStore(latestRequests)
  const via = useStore(calledVia)
  const command = newest && curl(newest, location.origin, via)
  return (
    <footer className="foot">
      {command && (
        <>
          <code title={command}>{command}</code>
          <CopyButton label={t.copyCurl} text={() => command} />
        </>
      )}
    </footer>
  )
}
