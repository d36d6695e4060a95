export * from './model';
export { Service } from './service';
import clock from './clock';

export const now = () => clock().now(); //> defaultClock, Clock.now
