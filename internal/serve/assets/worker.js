// One event stream for all pages of a browser; separate ones would use up its six connections per host.
'use strict';
const pages = new Set();
let stream = null, last = null;

function tell(message) {
  for (const page of pages) page.postMessage(message);
}

function open() {
  stream = new EventSource(location.pathname.replace(/\/assets\/worker\.js$/, '') + '/events');
  stream.onmessage = (e) => { last = { state: JSON.parse(e.data) }; tell(last); };
  stream.onerror = () => { last = { lost: true, closed: stream.readyState === EventSource.CLOSED }; tell(last); };
}

onconnect = (e) => {
  const page = e.ports[0];
  pages.add(page);
  page.onmessage = () => { // a page that is being closed
    pages.delete(page);
    if (pages.size === 0 && stream) { stream.close(); stream = null; last = null; }
  };
  if (last) page.postMessage(last);
  if (!stream || stream.readyState === EventSource.CLOSED) open();
};
