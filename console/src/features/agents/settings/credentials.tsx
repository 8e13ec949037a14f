import { useState } from 'react'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { List } from '#console/ui/list.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { changeSettings, credentials } from '../requests.ts'
import { text } from './text.ts'

type Name = (typeof credentials)[number]

/** The agent's credentials: the console writes their values and never reads them. */
export function Credentials({ set }: { set: Readonly<Record<string, boolean>> }) {
  const t = useText(text)
  const agent = useAgent()
  const [written, setWritten] = useState<Name>()
  const change = useChange(changeSettings(agent.id), { changes: [agent.api] })

  async function remove(name: Name) {
    const label = t.credentials[name]
    const question = { title: t.removeKey(label), text: t.removeKeyText, action: t.remove }
    if (!(await confirm({ ...question, isDangerous: true }))) return
    change.mutate({ [name]: null }, { onError: toastError, onSuccess: () => toast(t.keyRemoved(label)) })
  }

  return (
    <>
      <p className="hint">{t.credentialsText}</p>
      <List
        label={t.tabs.credentials}
        rows={[...credentials]}
        total={credentials.length}
        error={null}
        loadMore={undefined}
        keyOf={name => name}
        empty={null}
        columns={[
          { title: t.credential, cell: name => t.credentials[name] },
          {
            title: t.state,
            cell: name => (
              <Status tone={set[name] ? 'good' : 'plain'}>{set[name] ? t.isSet : t.isNotSet}</Status>
            ),
          },
          {
            title: t.actions,
            isTitleHidden: true,
            isAtEnd: true,
            cell: name =>
              agent.may('change') && (
                <>
                  <Button
                    kind="quiet"
                    onClick={() => setWritten(name)}
                    icon={set[name] ? 'edit' : 'plus'}
                    label={(set[name] ? t.replaceKey : t.setKey)(t.credentials[name])}
                  />
                  {set[name] && (
                    <Button
                      kind="quiet"
                      icon="trash"
                      label={t.removeKey(t.credentials[name])}
                      onClick={() => void remove(name)}
                    />
                  )}
                </>
              ),
          },
        ]}
      />
      {written && <CredentialForm name={written} onClose={() => setWritten(undefined)} />}
    </>
  )
}

function CredentialForm({ name, onClose }: { name: Name; onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const title = t.credentials[name]
  const change = useChange(changeSettings(agent.id), {
    changes: [agent.api],
    onDone: () => toast(t.keySaved(title)),
  })
  const property = { type: 'string', title, description: t.credentialHints[name], writeOnly: true }
  return (
    <Dialog title={t.setKey(title)} onClose={onClose}>
      <SchemaForm
        schema={{ required: [name], properties: { [name]: property } }}
        submit={t.save}
        request={changeSettings(agent.id)}
        onCancel={onClose}
        onSubmit={async values => {
          await change.mutateAsync(values)
          onClose()
        }}
      />
    </Dialog>
  )
}
