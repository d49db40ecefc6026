import { Dialog } from "../components/dialog.tsx";

const KEYS = [
  ["Ctrl K", "Find a trace, a view, a model, a user, an action"],
  ["?", "These keys"],
  ["↑ ↓ PgUp PgDn Home End", "Move through the rows"],
  ["Enter", "Open the row"],
  ["→ ←", "Open and close; to the first call below, to the parent"],
  ["/", "Search traces; find a call in a trace"],
  ["e", "To the next failed call"],
  ["$", "To the call with the largest own cost, of those below the row"],
  ["z", "The bars of the time of the chosen call, and back"],
  ["Esc", "Close the details, or what is open"],
] as const;

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <table>
        <tbody>
          {KEYS.map(([keys, does]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="tools">
        <button className="main" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
