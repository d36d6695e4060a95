class Log {
  write(text) {
    console.log(text);
  }

  area() {
    return 'log';
  }
}

export default function makeLog(name) {
  return new Log(name);
}
