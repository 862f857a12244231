// The sandbox gives plugins this of the window; the types of the API know nothing of it.
declare function atob(data: string): string;
declare function setInterval(call: () => void, milliseconds: number): number;
declare function clearInterval(id: number): void;
