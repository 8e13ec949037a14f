import { useState } from 'react'
import { useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import { Menu } from '#console/ui/menu.tsx'
import type { Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { ShownOnce } from '#console/ui/shown-once.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { toastError } from '#console/ui/toast.tsx'
import { BudgetForm } from './budget-form.tsx'
import { changeKey, createKey, deleteKey, type Key, listKeys, rotateKey } from './requests.ts'
import { budgetFields, budgetIn, roleField, text } from './text.ts'

const dayMs = 24 * 60 * 60_000
const tones = { active: 'good', expired: 'plain', revoked: 'bad' } as const

/** The keys of this path: an agent's keys, or the caller's, which reach all of the caller's agents. */
export function Keys({ keys, isPersonal = false }: { keys: string; isPersonal?: boolean }) {
  const t = useText(text)
  const rows = useRows<Key>(listKeys(keys), 'keys')
  const [isAdding, setAdding] = useState(false)
  const [bounded, setBounded] = useState<Key>()
  const [rotated, setRotated] = useState<Key>()
  const [secret, setSecret] = useState<string>()
  const removal = useChange(deleteKey(keys), { changes: [keys] })
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t.createKey}
    </Button>
  )

  async function remove({ id, name }: Key) {
    const question = { title: t.deleteKey(name), text: t.deleteKeyText, action: t.delete }
    if (await confirm({ ...question, isDangerous: true })) removal.mutate(id, { onError: toastError })
  }

  return (
    <>
      <Heading detail={isPersonal ? t.personalKeysText : t.agentKeysText}>
        {rows.rows?.length !== 0 && add}
      </Heading>
      <List
        {...rows}
        label={t.keys}
        keyOf={({ id }) => id}
        empty={
          <Empty title={t.noKeys} text={t.noKeysText}>
            {add}
          </Empty>
        }
        columns={[
          {
            title: t.name,
            cell: ({ name, hint }) => (
              <>
                {name} <code className="hint">…{hint}</code>
              </>
            ),
          },
          {
            title: t.role,
            cell: ({ role }) => (role === null ? t.asYou : (t.roles[role as keyof typeof t.roles] ?? role)),
          },
          ...(isPersonal ? [] : [{ title: t.creator, cell: ({ creator }: Key) => creator }]),
          { title: t.state, cell: ({ state }) => <Status tone={tones[state]}>{t.keyStates[state]}</Status> },
          {
            title: t.expires,
            cell: ({ expires_at }) => (expires_at === null ? t.never : <Time at={expires_at} />),
          },
          { title: t.budget, cell: key => budgetIn(key, t) },
          {
            title: t.lastUsed,
            cell: ({ last_used_at }) => (last_used_at === null ? t.notUsed : <Time at={last_used_at} />),
          },
          {
            title: t.actions,
            isTitleHidden: true,
            isAtEnd: true,
            cell: key =>
              key.state !== 'revoked' && (
                <Menu
                  button={{ kind: 'quiet', icon: 'more', label: t.actionsOf(key.name) }}
                  items={[
                    { label: t.budget, icon: 'chart', run: () => setBounded(key) },
                    { label: t.rotate, icon: 'refresh', run: () => setRotated(key) },
                    { label: t.delete, icon: 'trash', isDangerous: true, run: () => void remove(key) },
                  ]}
                />
              ),
          },
        ]}
      />
      {isAdding && (
        <NewKey keys={keys} isPersonal={isPersonal} onClose={() => setAdding(false)} onSecret={setSecret} />
      )}
      {bounded && <KeyBudget keys={keys} shown={bounded} onClose={() => setBounded(undefined)} />}
      {rotated && (
        <Rotation keys={keys} shown={rotated} onClose={() => setRotated(undefined)} onSecret={setSecret} />
      )}
      {secret !== undefined && (
        <ShownOnce
          title={t.newKey}
          text={t.newKeyText}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

function KeyBudget({ keys, shown, onClose }: Omit<FormProps, 'onSecret'> & { shown: Key }) {
  const t = useText(text)
  return (
    <BudgetForm
      title={t.budgetOf(shown.name)}
      values={shown}
      requestOf={changeKey(keys, shown.id)}
      list={keys}
      onClose={onClose}
    />
  )
}

interface FormProps {
  keys: string
  onClose(): void
  onSecret(secret: string): void
}

function NewKey({ keys, isPersonal, onClose, onSecret }: FormProps & { isPersonal: boolean }) {
  const t = useText(text)
  const agent = useAgent()
  const create = useChange(createKey(keys), { changes: [keys], onDone: ({ key }) => onSecret(key) })
  const role = roleField(t, isPersonal ? ['chat', 'viewer', 'admin', 'owner'] : ['chat', 'viewer', 'admin'])
  const schema = {
    required: isPersonal ? ['name', 'expires'] : ['name', 'role', 'expires'],
    properties: {
      name: { type: 'string', title: t.name, description: t.nameHint, maxLength: 100 },
      role: { ...role, ...(isPersonal && { title: t.cap, description: t.capHint }) },
      ...(isPersonal && { here: { type: 'boolean', title: t.onlyHere(agent.name) } }),
      expires: {
        type: 'string',
        title: t.expires,
        enum: Object.keys(t.periods),
        enumTitles: Object.values(t.periods),
        default: '90',
      },
      rate_per_minute: {
        type: 'integer',
        title: t.rate,
        description: t.rateHint,
        minimum: 1,
        maximum: 100_000,
      },
      ...budgetFields(t),
    },
  }
  const bodyOf = ({ expires, here, ...body }: Values) => ({
    ...body,
    ...(here === true && { agents: [agent.id] }),
    ...(expires !== 'never' && { expires_at: new Date(Date.now() + Number(expires) * dayMs).toISOString() }),
  })
  return (
    <Dialog title={t.createKey} onClose={onClose}>
      <SchemaForm
        schema={schema}
        initial={isPersonal ? {} : { role: 'chat' }}
        submit={t.createKey}
        request={values => createKey(keys)(bodyOf(values))}
        onCancel={onClose}
        onSubmit={async values => {
          await create.mutateAsync(bodyOf(values))
          onClose()
        }}
      />
    </Dialog>
  )
}

function Rotation({ keys, shown, onClose, onSecret }: FormProps & { shown: Key }) {
  const t = useText(text)
  const rotate = useChange(rotateKey(keys, shown.id), { changes: [keys], onDone: ({ key }) => onSecret(key) })
  return (
    <Dialog title={t.rotateTitle(shown.name)} onClose={onClose}>
      <SchemaForm
        schema={{
          properties: {
            overlap_hours: {
              type: 'number',
              title: t.overlap,
              description: t.overlapHint,
              minimum: 0,
              maximum: 24,
            },
          },
        }}
        submit={t.rotate}
        request={rotateKey(keys, shown.id)}
        onCancel={onClose}
        onSubmit={async values => {
          await rotate.mutateAsync(values)
          onClose()
        }}
      />
    </Dialog>
  )
}
