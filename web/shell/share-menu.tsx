import { useState } from "react";
import { change } from "../api/client.ts";
import { signInLink } from "../api/key.ts";
import type { Whoami } from "../api/routes.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { Menu } from "../components/menu.tsx";
import { printWindow, type TimeRange } from "../state/time-range.ts";
import { printAddress, type UrlState } from "../state/url-state.ts";

interface ShareMenuProps {
  readonly me: Whoami;
  readonly project: string;
  readonly address: UrlState;
  /** Undefined: the address names none. */
  readonly window: TimeRange | undefined;
}

const KEY_DAYS = 30;
const DAY_MS = 86_400_000;

/** Links to what is shown: with the range by its name or by its times, or with a new key that may read this project. */
export function ShareMenu({ me, project, address, window }: ShareMenuProps) {
  const [isMaking, setMaking] = useState(false);
  const [link, setLink] = useState<string | undefined>(undefined);
  const fixed = (): string =>
    printAddress({
      ...address,
      options: {
        ...address.options,
        ...(window !== undefined && {
          window: printWindow({ fromMs: window.fromMs, toMs: window.toMs ?? Date.now() }),
        }),
      },
    });
  const make = async (): Promise<void> => {
    const { key } = await change<{ readonly key: string }>("POST", "/api-keys", {
      name: `Shared view of ${project}`,
      scopes: ["read"],
      projects: [project],
      expires_at: new Date(Date.now() + KEY_DAYS * DAY_MS).toISOString(),
    });
    setLink(signInLink(key, fixed()));
  };
  return (
    <>
      <Menu label="Share" title="Links to this view">
        {() => (
          <div className="choices">
            <CopyButton label="Copy link" text={() => location.href} />
            <CopyButton
              label="Copy link with fixed times"
              text={() => new URL(fixed(), location.href).href}
            />
            {me.scopes.includes("admin") && (
              <button className="quiet" onClick={() => setMaking(true)}>
                Link with a new read-only key
              </button>
            )}
          </div>
        )}
      </Menu>
      {isMaking && (
        <FormDialog
          title="Share with a new key"
          submit="Make the link"
          act={make}
          onDone={() => undefined}
          onClose={() => setMaking(false)}
        >
          <p>
            Whoever has the link can read <bdi>{project}</bdi> for {KEY_DAYS} days. Its key is listed in
            Settings and can be revoked there.
          </p>
        </FormDialog>
      )}
      {link !== undefined && (
        <Dialog label="The link" onClose={() => setLink(undefined)}>
          <h2>The link</h2>
          <p>It is shown this once.</p>
          <pre tabIndex={0}>{link}</pre>
          <div className="tools">
            <CopyButton label="Copy the link" text={() => link} />
            <button className="main" onClick={() => setLink(undefined)}>
              Done
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
