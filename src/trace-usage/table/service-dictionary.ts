import { serviceInColumn } from "../../usage/usage-column.ts";
import type { Service } from "../../usage/usage.ts";
import { StringDictionary } from "./string-dictionary.ts";

/** Dictionary of the services (provider and tier) of one response, from 1; 0 if unknown. */
export class ServiceDictionary {
  private readonly texts = new StringDictionary();
  private readonly services: (Service | null)[] = [null];

  /** Returns the number of a service encoded in the column `usage`. */
  numberOfBytes(source: Buffer, start: number, end: number): number {
    const number = this.texts.numberOfBytes(source, start, end) + 1;
    if (number === this.services.length)
      this.services.push(serviceInColumn(source.toString("utf8", start, end)));
    return number;
  }

  numberOf(service: Service | undefined): number {
    if (service === undefined) return 0;
    const number = this.texts.numberOf(JSON.stringify(service)) + 1;
    if (number === this.services.length) this.services.push(service);
    return number;
  }

  serviceOf(number: number): Service | undefined {
    return this.services[number] ?? undefined;
  }
}
